# Completion of the mayfly command for bash. Installed as share/bash-completion/completions/mayfly.

_mayfly_jails() {
  mayfly ps --json 2>/dev/null | sed -n 's/^ *"id": "\(j_[a-z2-7]*\)",\{0,1\}$/\1/p'
}

_mayfly() {
  local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]} command=${COMP_WORDS[1]} word
  local commands="serve status stop drain run shell ps kill doctor hostkey invite reload"
  local controls="network filesystem environment identity privileges syscalls files memory cpu processes time output proc"
  COMPREPLY=()

  # What stands after -- is a command of its own.
  for word in "${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    if [[ $word == -- ]]; then
      COMPREPLY=($(compgen -c -- "$current"))
      return
    fi
  done
  if ((COMP_CWORD == 1)); then
    COMPREPLY=($(compgen -W "$commands --help --version" -- "$current"))
    return
  fi
  case $previous in
    --config | --file) COMPREPLY=($(compgen -f -- "$current")); return ;;
    --state) COMPREPLY=($(compgen -d -- "$current")); return ;;
    --profile) COMPREPLY=($(compgen -W "run python" -- "$current")); return ;;
    --language) COMPREPLY=($(compgen -W "python" -- "$current")); return ;;
    --require) COMPREPLY=($(compgen -W "$controls" -- "$current")); return ;;
    --ssh) COMPREPLY=($(compgen -W "127.0.0.1:2222 off" -- "$current")); return ;;
    --http) COMPREPLY=($(compgen -W "127.0.0.1:8802 off" -- "$current")); return ;;
  esac
  local options="--help"
  case $command in
    serve) options+=" --config --check --ssh --http --state --no-cgroups" ;;
    status | ps) options+=" --state --json" ;;
    hostkey) options+=" --state --host --port --known-hosts --sshfp --json" ;;
    stop | drain | reload) options+=" --state" ;;
    kill) options+=" --state $(_mayfly_jails)" ;;
    run)
      options+=" --profile --language --code --file --memory --time --cpu-time --cpus --processes --disk --require"
      options+=" --config --reproducible --tty --json --"
      ;;
    shell) options+=" --config run python" ;;
    invite) options+=" new list revoke --name --profile --expires --uses --count --host --csv --json --state" ;;
    doctor) options+=" --config --json --no-cgroups" ;;
  esac
  COMPREPLY=($(compgen -W "$options" -- "$current"))
}

complete -F _mayfly mayfly
