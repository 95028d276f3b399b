"""Runs a command and writes what it and all processes that it started took, as JSON:
CPU seconds are those of the kernel's account; memory is the largest that a sample found.

    measured.py <file> <command> [argument ...]
"""

import json
import os
import resource
import subprocess
import sys
import time


def tree(root):
    found = [root]
    for pid in found:
        for thread in entries(f"/proc/{pid}/task"):
            found += map(int, text(f"/proc/{pid}/task/{thread}/children").split())
    return found


def entries(folder):
    try:
        return os.listdir(folder)
    except OSError:  # it has just ended
        return []


def text(file):
    try:
        with open(file) as opened:
            return opened.read()
    except OSError:
        return ""


def kilobytes(pid, file, name):
    lines = text(f"/proc/{pid}/{file}").splitlines()
    return next((int(line.split()[1]) for line in lines if line.startswith(name)), 0)


def memory(pids):
    """Pages that processes share count once (Pss); one process had what the kernel noted (VmHWM)."""
    together = sum(kilobytes(pid, "smaps_rollup", "Pss:") for pid in pids)
    return max(together, *(kilobytes(pid, "status", "VmHWM:") for pid in pids)) * 1024


for needed in ("/proc/self/smaps_rollup", f"/proc/self/task/{os.getpid()}/children"):
    if not os.path.exists(needed):
        sys.exit(f"memory is measured on Linux alone: there is no {needed}")
began = time.monotonic()
child = subprocess.Popen(sys.argv[2:])
peak = 0
while child.poll() is None:
    sampled = time.monotonic()
    peak = max(peak, memory(tree(child.pid)))
    time.sleep(max(0.05, 10 * (time.monotonic() - sampled)))
seconds = time.monotonic() - began
used = resource.getrusage(resource.RUSAGE_CHILDREN)
with open(sys.argv[1], "w") as taken:
    json.dump({"seconds": seconds, "cpuSeconds": used.ru_utime + used.ru_stime, "peakBytes": peak}, taken)
sys.exit(child.returncode)
