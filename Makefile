# The front door. Meson and ninja do the work; every target first sees to the Debian packages it needs.
BUILD  := build
ASAN   := build-asan
TSAN   := build-tsan
CLANG  := build-clang
JOBS   ?= $(shell nproc)
PACKAGES := $(shell grep -v '^\#' packages.txt)

.PHONY: all deps install demo check check-all bench asan tsan clang format format-check update-golden fuzz clean

all: deps
	@test -f $(BUILD)/build.ninja || meson setup -Db_lto=false $(BUILD)
	@ninja -j $(JOBS) -C $(BUILD)
	@ln -sf $(BUILD)/src/reprise reprise

# Installs what is missing from packages.txt; says nothing when all is there.
deps:
	@missing=$$(for p in $(PACKAGES); do dpkg-query -W -f '$${Status}' $$p 2>/dev/null | grep -q 'ok installed' || echo $$p; done); \
	if [ -n "$$missing" ]; then \
	  echo "installing: $$missing"; \
	  sudo=; [ "$$(id -u)" = 0 ] || sudo=sudo; \
	  $$sudo apt-get update -q && $$sudo env DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends $$missing; \
	fi

# Into PREFIX, below DESTDIR for those who make packages.
PREFIX ?= /usr/local
install: all
	@meson configure $(BUILD) -Dprefix=$(abspath $(PREFIX))
	@meson install -C $(BUILD) --quiet $(if $(DESTDIR),--destdir '$(abspath $(DESTDIR))')
	@echo "installed in $(DESTDIR)$(abspath $(PREFIX))"

demo: all
	@tools/demo.sh

# Everything a change must pass.
check: all
	@tools/check.sh $(BUILD)

# Also the slow ones: all mechanisms on all workloads, long random tests of the CPU, all programs with reuse, sweeps killed often and on Slurm, all tests under the sanitizers and with clang, long
# fuzzing.
check-all: check asan tsan clang
	@tests/e2e/mechs.py --full --reprise ./reprise
	@tests/cpu/qemu.py --full --reprise ./reprise --gen $(BUILD)/tests/a64_gen --build $(BUILD)/tests/cpu_full
	@tests/programs/run_tests.py --run='--mech wir --check' --reprise ./reprise --mkfatbin $(BUILD)/tools/mkfatbin --build $(BUILD)/tests/programs_wir
	@tests/e2e/sweep.py --kills 100 --reprise ./reprise
	@tests/e2e/slurm.py --reprise ./reprise || [ $$? = 77 ]
	@tools/check.sh $(ASAN)
	@tools/check.sh $(CLANG)
	@tools/fuzz.sh 600

asan: deps
	@test -f $(ASAN)/build.ninja || meson setup -Db_sanitize=address,undefined -Db_lundef=false $(ASAN)
	@ninja -j $(JOBS) -C $(ASAN)

# How threads share work, and launches on several of them, under the thread sanitizer. Device memory lies where the
# sanitizer lets programs have theirs, behind the program itself.
tsan: deps
	@test -f $(TSAN)/build.ninja || meson setup -Db_lto=false -Db_sanitize=thread -Db_lundef=false \
		'-Dc_args=-DRP_REGION=UINT64_C(0x560000000000) -DRP_REGION_SIZE=UINT64_C(0x4000000000)' $(TSAN)
	@ninja -j $(JOBS) -C $(TSAN) tests/test_crew tests/test_strands
	@TSAN_OPTIONS=halt_on_error=1 setarch -R $(TSAN)/tests/test_crew
	@TSAN_OPTIONS=halt_on_error=1 setarch -R $(TSAN)/tests/test_strands

clang: deps
	@test -f $(CLANG)/build.ninja || CC=clang-19 meson setup $(CLANG)
	@ninja -j $(JOBS) -C $(CLANG)

# Simulated warp instructions per second, and host instructions for one of them.
bench: all
	@python3 tools/bench.py

fuzz: deps
	@tools/fuzz.sh 600

format:
	clang-format -i $$(git ls-files 'src/*.c' 'src/*.h' 'tests/*.c' 'tests/*.h' 'tools/*.c' 'include/*.h')

format-check:
	clang-format --dry-run -Werror $$(git ls-files 'src/*.c' 'src/*.h' 'tests/*.c' 'tests/*.h' 'tools/*.c' 'include/*.h')

update-golden: all
	python3 tests/golden/run.py --reprise ./reprise --update

clean:
	rm -rf $(BUILD) $(ASAN) $(CLANG) reprise report
