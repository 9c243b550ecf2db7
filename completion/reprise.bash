# Completion of reprise for bash. Commands and options come from its help, names from reprise list, so it knows what the command does.

_reprise_words() { # the first words of a list's lines, without its heading
    reprise list "$1" 2>/dev/null | sed -n '/^workload /d; s/^ \{0,2\}\([A-Za-z0-9_+.-]*\)  .*/\1/p'
}

_reprise_commands() {
    reprise help 2>/dev/null | sed -n 's/^  \([a-z]*\)  *[a-z].*/\1/p'
}

_reprise_options() { # of a help text: what its usage and the first column of its list name
    sed -n '/^usage/,/^$/p; /^  -/p' | sed 's/^\(  -[^ ].*[^ ]\)  .*/\1/' |
        grep -oE -- '(^|[ ,[|])-(-[a-z][a-z-]*|[a-z])([] ,|=]|$)' | tr -d '[] ,|=' | sort -u
}

_reprise() {
    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]} command=${COMP_WORDS[1]} words= before=
    COMPREPLY=()
    if [ "$COMP_CWORD" = 1 ]; then
        words="$(_reprise_commands) help --version"
    else
        case $prev$([[ $cur = -* ]] && echo -) in # where an option begins, the word before it is no choice
        --gpu) words=$(_reprise_words gpus) ;;
        --cpu) words=$(_reprise_words cpus) ;;
        --mech) words="base $(_reprise_words mechs)" ;;
        --probe) words=$(_reprise_words probes) ;;
        --benchmark | --workloads) words=$(_reprise_words workloads) ;;
        --counter) words=$(_reprise_words counters) ;;
        --size) words="tiny small medium large" ;;
        --bits) words="32 64" ;;
        --launcher) words="local slurm" ;;
        --leak-check) words="full no" ;;
        --destroy-on-device-error) words="context kernel" ;;
        help) words=$(_reprise_commands) ;;
        repro) words=$(_reprise_words papers) ;;
        list) words=$(reprise help list 2>/dev/null | sed -n 's/^  \([a-z]*\)  *.*/\1/p') ;;
        cpu) words="run memo params" ;;
        sweep) words=status ;;
        esac
        case $prev,$cur in # further names of a list, or of a stack
        --mech,*[,+]* | --gpu,*,* | --probe,*+* | --workloads,*,*)
            before=${cur%"${cur##*[,+]}"}
            words=$(for word in $words; do echo "$before$word"; done)
            ;;
        esac
        if [ -z "$words" ]; then
            case $command,${COMP_WORDS[2]},$cur in
            env,*,-*) words=$(reprise help run 2>/dev/null | _reprise_options) ;;
            cpu,memo,-*) words=$(reprise cpu memo --help 2>/dev/null | _reprise_options) ;;
            *,-*) words="$(reprise help "$command" 2>/dev/null | _reprise_options) --help" ;;
            run,* | profile,*) words=$(_reprise_words workloads) ;;
            compare,*) words="$(_reprise_words workloads) $(_reprise_words suites)" ;;
            repro,*) words=$(reprise repro "${COMP_WORDS[2]}" --list 2>/dev/null | sed -n 's/^  \([A-Za-z0-9.]*\)  .*/\1/p') ;;
            esac
        fi
    fi
    mapfile -t COMPREPLY < <(compgen -W "$words" -- "$cur")
    if [[ $command = sweep && $COMP_CWORD = 2 && $cur != -* ]]; then # a file, or status
        mapfile -t -O "${#COMPREPLY[@]}" COMPREPLY < <(compgen -f -- "$cur")
    elif [ ${#COMPREPLY[@]} = 0 ] && [[ $cur != -* ]]; then
        mapfile -t COMPREPLY < <(compgen -f -- "$cur")
        compopt -o filenames 2>/dev/null
    fi
}
complete -F _reprise reprise
