"""Counts the system calls of a program and of its keeper, by ptrace(2).

strace follows either none of a program's children or all of them, and commands that are traced
can't prove that they are confined: here the keeper is followed, and what it starts is not."""

import collections
import ctypes
import os
import pickle
import signal

PTRACE_TRACEME, PTRACE_CONT, PTRACE_SYSCALL = 0, 7, 24
PTRACE_SETOPTIONS, PTRACE_GETEVENTMSG, PTRACE_GET_SYSCALL_INFO = 0x4200, 0x4201, 0x420E
SYSGOOD, CHILDREN, EXITKILL = 1, 2 | 4 | 8, 0x100000
WALL = 0x40000000
CALL_STOP = signal.SIGTRAP | 0x80
WRITE, SENDTO = 1, 44  # x86-64
ENTRY = 1

libc = ctypes.CDLL(None, use_errno=True)
libc.ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]
libc.ptrace.restype = ctypes.c_long


class CallInfo(ctypes.Structure):
    """struct ptrace_syscall_info at a call's entry."""
    _fields_ = [("op", ctypes.c_uint8), ("pad", ctypes.c_uint8 * 3), ("arch", ctypes.c_uint32),
                ("instruction", ctypes.c_uint64), ("stack", ctypes.c_uint64),
                ("number", ctypes.c_uint64), ("arguments", ctypes.c_uint64 * 6),
                ("rest", ctypes.c_uint64 * 2)]


def ptrace(request, pid, address=0, data=0):
    result = libc.ptrace(request, pid, address, data)
    if result < 0:
        raise OSError(ctypes.get_errno(), f"ptrace {request:#x}")
    return result


def starts_request(pid, info):
    if info.number not in (WRITE, SENDTO):
        return False
    try:
        with open(f"/proc/{pid}/mem", "rb", buffering=0) as memory:
            memory.seek(info.arguments[1])
            return memory.read(5) == b"POST "
    except OSError:
        return False


def thread_group(pid):
    with open(f"/proc/{pid}/status", encoding="ascii", errors="replace") as file:
        for line in file:
            if line.startswith("Tgid:"):
                return int(line.split()[1])
    return pid


def count_calls(argv, folder, environment, prepare=lambda: None):
    """Runs the program to its end.

    @return  its status, the program's calls and the keeper's: a Counter by number for the part up to
             the first request, one for each up to the next one, and one up to the end"""
    # In a process of its own, since it waits for any child.
    read_end, write_end = os.pipe()
    counting = os.fork()
    if counting == 0:
        try:
            counts = traced(argv, folder, environment, prepare)
            with os.fdopen(write_end, "wb") as file:
                pickle.dump(counts, file)
        finally:
            os._exit(0)
    os.close(write_end)
    with os.fdopen(read_end, "rb") as file:
        text = file.read()
    os.waitpid(counting, 0)
    return pickle.loads(text)


def traced(argv, folder, environment, prepare):
    main = os.fork()
    if main == 0:
        try:
            os.chdir(folder)
            null = os.open(os.devnull, os.O_RDWR)
            errors = os.open("stderr.txt", os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
            os.dup2(null, 0)
            os.dup2(null, 1)
            os.dup2(errors, 2)
            prepare()
            ptrace(PTRACE_TRACEME, 0)
            os.kill(os.getpid(), signal.SIGSTOP)
            os.execve(argv[0], argv, environment)
        finally:
            os._exit(127)
    os.waitpid(main, WALL)
    ptrace(PTRACE_SETOPTIONS, main, 0, SYSGOOD | CHILDREN | EXITKILL)
    ptrace(PTRACE_SYSCALL, main)
    ours, keeper = [collections.Counter()], [collections.Counter()]
    kept = None  # the keeper's id
    known = {main: True}
    while True:
        pid, status = os.waitpid(-1, WALL)
        if not os.WIFSTOPPED(status):
            if pid == main:
                return os.waitstatus_to_exitcode(status), ours, keeper
            continue
        number = os.WSTOPSIG(status)
        deliver = 0
        if pid not in known:
            known[pid] = thread_group(pid) == main
            if not known[pid]:
                kept = kept or pid
                ptrace(PTRACE_SETOPTIONS, pid, 0, SYSGOOD | EXITKILL)
        elif number == CALL_STOP:
            info = CallInfo()
            ptrace(PTRACE_GET_SYSCALL_INFO, pid, ctypes.sizeof(info), ctypes.addressof(info))
            if info.op == ENTRY:
                if known[pid] and starts_request(pid, info):
                    ours.append(collections.Counter())
                    keeper.append(collections.Counter())
                (ours if known[pid] else keeper)[-1][info.number] += 1
        elif number != signal.SIGTRAP:  # not an event of ptrace's
            deliver = number
        try:
            ptrace(PTRACE_SYSCALL, pid, 0, deliver)
        except ProcessLookupError:
            pass
