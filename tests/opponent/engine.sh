#!/usr/bin/env bash
# A UCI engine for tests. In the folder that is its argument it plays, after N plies, the move in the file `N`; a file
# `once-N` says what it does there the first time: `crash`, `hang`, or another answer. It says who it is once there is no file
# `held`. Everything it is told is in the file `heard`.
cd "$1" || exit
# A simulated board's pseudo-terminal that this process has inherited would never be unplugged. (255 is this file.)
for fd in /proc/self/fd/*; do
    fd=${fd##*/}
    if [ "$fd" -gt 2 ] && [ "$fd" -ne 255 ]; then eval "exec $fd>&-"; fi
done
plies=0
while read -r line; do
    echo "$line" >>heard
    case "$line" in
    uci)
        while [ -e held ]; do sleep 0.01; done
        echo 'A banner, which is not part of the protocol'
        echo 'id name Scripted 1.0'
        echo 'option name Skill Level type spin default 20 min 0 max 20'
        echo uciok
        ;;
    isready) echo readyok ;;
    position*)
        plies=0
        for word in ${line#*moves}; do
            case "$word" in position | startpos) ;; *) plies=$((plies + 1)) ;; esac
        done
        ;;
    go*)
        echo 'info depth 1 score cp 10 pv e7e5'
        answer=$(cat "$plies")
        if [ -e "once-$plies" ]; then
            answer=$(cat "once-$plies")
            rm "once-$plies"
        fi
        case "$answer" in
        crash) exit 3 ;;
        hang) ;;
        *) echo "bestmove $answer" ;;
        esac
        ;;
    quit) exit 0 ;;
    esac
done
