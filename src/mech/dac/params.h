/* Parameters of DAC. */
#ifndef REPRISE_MECH_DAC_PARAMS_H
#define REPRISE_MECH_DAC_PARAMS_H

#include <stdbool.h>
#include <stdint.h>

struct dac_params {
    int32_t atq, pwaq, pwpq, lanes, registers;
    bool prefetch, first;
    double pj_atq, pj_pwaq, pj_pwpq, pj_stack, pj_alu;
};

#endif
