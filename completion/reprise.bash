# Completion of reprise for bash. Commands and options come from its help, names from reprise list, so it knows what the command does.

_reprise_words() { # the first words of a list's lines
    reprise list "$1" 2>/dev/null | sed -n 's/^ *\([A-Za-z0-9_+.-]*\)  .*/\1/p'
}

_reprise() {
    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]} command=${COMP_WORDS[1]} words=
    COMPREPLY=()
    if [ "$COMP_CWORD" = 1 ]; then
        words="$(reprise help 2>/dev/null | sed -n 's/^  \([a-z]*\)  *[a-z].*/\1/p') help --version"
    else
        case $prev in
        --gpu) words=$(_reprise_words gpus) ;;
        --mech) words=$(_reprise_words mechs) ;;
        --probe) words=$(_reprise_words probes) ;;
        --size) words="tiny small medium large" ;;
        --bits) words="32 64" ;;
        --launcher) words="local slurm" ;;
        help) words=$(reprise help 2>/dev/null | sed -n 's/^  \([a-z]*\)  *[a-z].*/\1/p') ;;
        repro) words=$(_reprise_words papers) ;;
        list) words=$(reprise help list 2>/dev/null | sed -n 's/^  \([a-z]*\)  *.*/\1/p') ;;
        esac
        if [ -z "$words" ]; then
            case $cur in
            -*) words=$(reprise help "$command" 2>/dev/null | grep -oE -- '(^|[ ,])-(-[a-z][a-z-]*|[a-z])' | tr -d ' ,' | sort -u) ;;
            *) case $command in run | compare | profile) words=$(_reprise_words workloads) ;; esac ;;
            esac
        fi
    fi
    mapfile -t COMPREPLY < <(compgen -W "$words" -- "$cur")
    if [ ${#COMPREPLY[@]} = 0 ] && [[ $cur != -* ]]; then
        mapfile -t COMPREPLY < <(compgen -f -- "$cur")
        compopt -o filenames 2>/dev/null
    fi
}
complete -F _reprise reprise
