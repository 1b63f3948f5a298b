#!/usr/bin/env bash
# `sluice lab run --slurm` on a cluster of one machine: starts munged, slurmctld and slurmd as the current user, without systemd, and stops them at the
# end. Needs Debian's slurm-wlm and munge, which ./check --full installs; skipped without them.
. "$(dirname "$0")/../testlib.sh"

PATH=$PATH:/usr/sbin:/sbin
for program in munged slurmctld slurmd sbatch squeue scancel scontrol; do
    command -v $program >/dev/null && continue
    echo "skipped: $program is not installed (slurm-wlm, munge)"
    tests_end
done

port=$((20000 + $$ % 20000)) host=$(hostname -s) me=$(id -un)
cluster=$work/cluster
mkdir -p "$cluster"/{munge,state,spool,log}
chmod 755 "$work" "$cluster" "$cluster"/*

stop_cluster() {
    local name pid
    for name in slurmd slurmctld munge/munged; do
        pid=$(cat "$cluster/$name.pid" 2>/dev/null) && kill "$pid" 2>/dev/null
    done
    for name in slurmd slurmctld munge/munged; do # wait for their end before the directory is removed
        pid=$(cat "$cluster/$name.pid" 2>/dev/null) || continue
        for _ in $(seq 100); do kill -0 "$pid" 2>/dev/null || break; sleep 0.05; done
    done
}
trap 'stop_cluster; rm -rf "$work"' EXIT

start_cluster() {
    cat >"$cluster/slurm.conf" <<CONF
ClusterName=local
SlurmctldHost=$host(127.0.0.1)
SlurmctldPort=$port
SlurmdPort=$((port + 1))
SlurmUser=$me
SlurmdUser=$me
AuthType=auth/munge
AuthInfo=socket=$cluster/munge/munge.sock,cred_expire=5
CredType=cred/munge
StateSaveLocation=$cluster/state
SlurmdSpoolDir=$cluster/spool
SlurmctldPidFile=$cluster/slurmctld.pid
SlurmdPidFile=$cluster/slurmd.pid
SlurmctldLogFile=$cluster/log/slurmctld.log
SlurmdLogFile=$cluster/log/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
SchedulerType=sched/backfill
SchedulerParameters=sched_interval=1,bf_interval=1,batch_sched_delay=0
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
MpiDefault=none
ReturnToService=2
SwitchType=switch/none
AccountingStorageType=accounting_storage/none
KillWait=2
NodeName=$host NodeAddr=127.0.0.1 CPUs=$(nproc) RealMemory=$(free -m | awk '/^Mem:/ { print $2 }') State=UNKNOWN
PartitionName=debug Nodes=ALL Default=YES MaxTime=INFINITE State=UP
CONF
    dd if=/dev/urandom bs=128 count=1 of="$cluster/munge/munge.key" 2>/dev/null
    chmod 400 "$cluster/munge/munge.key"
    munged --key-file="$cluster/munge/munge.key" --socket="$cluster/munge/munge.sock" --pid-file="$cluster/munge/munged.pid" \
        --log-file="$cluster/munge/munged.log" --seed-file="$cluster/munge/munged.seed" >"$cluster/log/munged.out" 2>&1 || return
    export SLURM_CONF=$cluster/slurm.conf
    slurmctld -f "$SLURM_CONF" >"$cluster/log/slurmctld.out" 2>&1 && slurmd -f "$SLURM_CONF" >"$cluster/log/slurmd.out" 2>&1 || return
    for _ in $(seq 200); do
        sinfo -h -o %T 2>/dev/null | grep -q idle && return
        sleep 0.1
    done
    return 1
}

testcase "a cluster of one machine starts"
start_cluster
holds "$(tail -n 3 "$cluster"/log/*.out "$cluster"/log/*.log "$cluster"/munge/*.log 2>&1)" test $? -eq 0
[ -z "$test_failures" ] || tests_end

cd "$work" || exit 1
cat >e.yaml <<'YAML'
title: A test
gpu: adaptive-80sm
size: tiny
workloads: [mm, va]
designs: {shared: {design: shared}, lrr: {design: lrr}}
sweep: {noc.channel_bytes: [16, 32]}
metrics:
  - {name: IPC, value: ipc}
draw: table
YAML
content() { "$SLUICE" lab export --store "$1" --json - | sed 's/,"host":{[^}]*}//; s/,$//' | sort; }
sluice lab run e.yaml --store here.sqlite
content here.sqlite >here.txt

testcase "runs on the cluster equal the runs on this machine"
sluice lab run e.yaml --store there.sqlite --slurm --wait --runs-per-task 3 --partition debug --time 5 --memory 100
status_is 0
out_has "submitted 8 runs in 3 tasks: job "
out_has "8 runs: 8 cached (there.sqlite)"
content there.sqlite >there.txt
same_files here.txt there.txt
no_file there.sqlite.work

testcase "reports the runs of a cancelled task, and the same command resubmits them"
scontrol update PartitionName=debug State=DOWN # nothing starts until the task is cancelled
sluice lab run e.yaml --store again.sqlite --slurm --runs-per-task 4
status_is 0
job=$(sed -n 's/.*: job //p' out)
sluice lab status --store again.sqlite
status_is 0
out_has "0 running, 2 pending (8 runs)"
sluice lab run e.yaml --store again.sqlite --slurm
out_has "8 runs still in the queue"
holds "a second job for what is in the queue" test "$(squeue -h -o %A | sort -u | wc -l)" -eq 1
scancel "${job}_1"
scontrol update PartitionName=debug State=UP
for _ in $(seq 300); do [ -z "$(squeue -h -j "$job")" ] && break; sleep 0.1; done
sluice lab gather --store again.sqlite
status_is 1
out_has "4 results imported into again.sqlite"
out_has "va:tiny, shared, 16: Slurm task ${job}_1 " # "ended as CANCELLED", if Slurm still knows it
sluice lab run e.yaml --store again.sqlite --slurm --wait
status_is 0
err_has "va:tiny, shared, 16: Slurm task ${job}_1 "
out_has "submitted 4 runs in 1 task"
out_has "8 runs: 8 cached (again.sqlite)"
content again.sqlite >again.txt
same_files here.txt again.txt

testcase "reports a task cancelled while running with its state"
sed "s/workloads: .*/workloads: ['synth:stream']/; s/size: tiny//" e.yaml >slow.yaml
sluice lab run slow.yaml --store slow.sqlite --slurm --runs-per-task 4
job=$(sed -n 's/.*: job //p' out)
for _ in $(seq 200); do [ "$(squeue -h -j "$job" -o %T)" = RUNNING ] && break; sleep 0.05; done
scancel "$job"
for _ in $(seq 300); do [ -z "$(squeue -h -j "$job")" ] && break; sleep 0.1; done
sluice lab gather --store slow.sqlite
status_is 1
out_has "synth:stream, lrr, 32: Slurm task ${job}_0 ended as CANCELLED without a result"
no_file slow.sqlite.work

testcase "reports a run that fails on the cluster with its error, and simulates the others"
sed 's/lrr: {design: lrr}/small: {set: {sm.shared_kb: 1}}/' e.yaml >small.yaml
sluice lab run small.yaml --store small.sqlite --slurm --wait --runs-per-task 8
status_is 1
err_has "mm:tiny, small, 16: kernel 'mm_tiled' does not fit"
out_has "8 runs: 6 cached (small.sqlite)"

testcase "a requeued task continues, and no run is simulated twice"
sluice lab run e.yaml --store requeued.sqlite --slurm --runs-per-task 8
job=$(sed -n 's/.*: job //p' out)
for _ in $(seq 100); do [ "$(squeue -h -j "$job" -o %T)" = RUNNING ] && break; sleep 0.05; done
scontrol requeue "$job" 2>/dev/null # unless it has ended already
sluice lab run e.yaml --store requeued.sqlite --slurm --wait
status_is 0
content requeued.sqlite >requeued.txt
same_files here.txt requeued.txt

testcase "reports the error of sbatch, and leaves no files"
sluice lab run e.yaml --store refused.sqlite --slurm --partition nosuch
status_is 1
err_has "sbatch: "
err_has "nvalid partition"
no_file refused.sqlite.work

testcase "does not resubmit if squeue fails"
sluice lab run e.yaml --store lost.sqlite --slurm
status_is 0
pid=$(cat "$cluster/slurmctld.pid")
kill "$pid"
for _ in $(seq 100); do kill -0 "$pid" 2>/dev/null || break; sleep 0.05; done
SLURM_CONF=$cluster/slurm.conf timeout 60 "$SLUICE" lab run e.yaml --store lost.sqlite --slurm >out 2>err
last_status=$? last_command="sluice lab run --slurm"
status_is 1
err_has "squeue: "

tests_end
