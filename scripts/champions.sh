#!/bin/sh
# The champions in the package, from nothing: about eight hours on one core, in runs/.
set -e
train() { python train.py --threads 1 "$@"; }

# three_player: self-play, a league, and two more seeds of a smaller network …
train --preset champion
train --preset standard --run standard-2 --seed 2
train --preset standard --run standard-3 --seed 3
train --run quick-2 --seed 2
agent() { echo "runs/$1/agent.pt"; }
train --run league --width 192 --init-from $(agent champion) \
    --opponents duck heuristic $(agent quick-2) $(agent standard-2) $(agent champion) \
    --opponent-share 0.8 --snapshots 5 --decisions 25_000_000 \
    --learning-rate 1e-3 --entropy-start 0.005 --tables 1024 --minibatch 2048

# … whose mean opinion teaches a student, which joins the teachers, and so on
student() {
    train --width 192 --learning-rate 1e-3 --entropy-start 0.003 \
        --tables 1024 --minibatch 2048 "$@"
}
bots="--opponents duck heuristic --opponent-share 0.2 --snapshots 2 --snapshot-every 40"
student --run student-1 --decisions 8_000_000 --init-from $(agent champion) \
    --teachers $(agent champion) $(agent league) $(agent standard-2)
student --run student-2 --decisions 10_000_000 --seed 2 $bots \
    --init-from $(agent student-1) \
    --teachers $(agent student-1) $(agent champion) $(agent standard-2)
student --run student-3 --decisions 10_000_000 --seed 3 $bots \
    --init-from $(agent student-2) \
    --teachers $(agent student-2) $(agent student-1) $(agent standard-2) $(agent standard-3)
student --run student-4 --decisions 10_000_000 --seed 4 $bots \
    --init-from $(agent student-1) \
    --teachers $(agent student-2) $(agent champion) $(agent standard-2) $(agent standard-3)

# the last one, in two processes: the champion
torchrun --standalone --nproc_per_node 2 -- train.py --threads 1 --run student-5 --seed 5 \
    --width 192 --learning-rate 1e-3 --entropy-start 0.003 --tables 1024 --minibatch 1024 \
    --init-from $(agent student-2) --teacher-start 0.5 \
    --teachers $(agent student-2) $(agent student-3) $(agent student-4) \
    --opponents $(agent standard-2) $(agent standard-3) duck heuristic --opponent-share 0.5 \
    --decisions 36_000_000

# american_hearts: who plays against ducks alone learns to shoot the moon, who starts from
# there doesn't forget it
american() { train --rules american_hearts "$@"; }
american --run shooter --best-response-to duck --decisions 20_000_000
american --run american-1 --init-from $(agent shooter) --decisions 8_000_000 \
    --opponents duck heuristic --opponent-share 0.6 --learning-rate 1e-3 --entropy-start 0.01
american --run american-2 --init-from $(agent american-1) --decisions 25_000_000 \
    --opponents duck heuristic --opponent-share 0.5 --snapshots 3 --snapshot-every 200 \
    --learning-rate 1.5e-3 --entropy-start 0.01
american --run american-3 --init-from $(agent american-2) --decisions 30_000_000 \
    --opponents duck heuristic --opponent-share 0.5 --snapshots 3 --snapshot-every 200 \
    --learning-rate 1e-3 --entropy-start 0.006
# branches among bots teach it to shoot at them too; then it learns again when not to
branches="--branches 0.4 --tables 1024 --minibatch 4096 --precision float32 \
    --entropy-start 0.003 --entropy-end 0.0003 --opponent-share 0.8"
american --run american-4 --init-from $(agent american-3) --decisions 12_000_000 $branches \
    --opponents duck heuristic heuristic --learning-rate 5e-4 --seed 21
american --run american-5 --init-from $(agent american-4) --decisions 30_000_000 $branches \
    --opponents duck heuristic heuristic $(agent american-3) $(agent american-3) \
    --snapshots 2 --snapshot-every 60 --learning-rate 6e-4 --seed 22

# all rules: one network that reads them, from the weights of the champion; the packaged one's
# first run drew its rules from fewer kinds (docs/generalisation.md)
universal() {
    train --rules mixed --precision float32 --width 192 --tables 4096 --rule-sets 32 \
        --minibatch 4096 "$@"
}
universal --run universal-1 --init-from $(agent student-5) --decisions 72_000_000 \
    --learning-rate 1.2e-3 --entropy-start 0.01
universal --run universal-2 --init-from $(agent universal-1) --decisions 70_000_000 \
    --learning-rate 1e-3 --entropy-start 0.005 --seed 2
universal --run universal-3 --init-from $(agent universal-2) --decisions 14_500_000 \
    --learning-rate 6e-4 --entropy-start 0.003 --entropy-end 0.0005 --branches 0.15 --seed 3

# what the package holds: weights of policy and critic, without what a run needs to go on
python - <<'END'
from black_maria_agents.checkpoint import strip

strip("runs/student-5/agent.pt", "agents/black_maria_agents/champions/three_player.pt")
strip("runs/american-5/agent.pt", "agents/black_maria_agents/champions/american_hearts.pt")
strip("runs/universal-3/agent.pt", "agents/black_maria_agents/champions/universal.pt")
END

# who holds what, as champions play: which worlds the search weighs
python scripts/guesser.py
