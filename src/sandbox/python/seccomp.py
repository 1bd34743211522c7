"""
The system call filter of a sandboxed program: system calls that widen what a process can reach are refused, the rest is left alone.
It stands on top of namespaces and dropped capabilities; it is no complete list of what a program may do.

Numbers come from the kernel's own tables (x86-64: arch/x86/entry/syscalls/syscall_64.tbl, aarch64: asm-generic/unistd.h).
Runs inside the sandbox with the standard library alone.
"""
import ctypes
import os
import struct

AUDIT_ARCH = {'x86_64': 0xC000003E, 'aarch64': 0xC00000B7}

# Numbers from 424 on are the same on every architecture.
_SHARED = {
    'io_uring_setup': 425, 'io_uring_enter': 426, 'io_uring_register': 427, 'open_tree': 428, 'move_mount': 429, 'fsopen': 430,
    'fsconfig': 431, 'fsmount': 432, 'fspick': 433, 'clone3': 435, 'pidfd_getfd': 438, 'mount_setattr': 442, 'quotactl_fd': 443,
    'memfd_secret': 447,
}

NUMBERS = {
    'x86_64': {
        'shmget': 29, 'socket': 41, 'clone': 56, 'msgget': 68, 'ptrace': 101, 'syslog': 103, 'vhangup': 153, 'modify_ldt': 154,
        'pivot_root': 155, 'adjtimex': 159, 'chroot': 161, 'acct': 163, 'settimeofday': 164, 'mount': 165, 'umount2': 166,
        'swapon': 167, 'swapoff': 168, 'reboot': 169, 'sethostname': 170, 'setdomainname': 171, 'iopl': 172, 'ioperm': 173,
        'init_module': 175, 'delete_module': 176, 'quotactl': 179, 'lookup_dcookie': 212, 'clock_settime': 227, 'kexec_load': 246,
        'add_key': 248, 'request_key': 249, 'keyctl': 250, 'unshare': 272, 'perf_event_open': 298, 'fanotify_init': 300,
        'name_to_handle_at': 303, 'open_by_handle_at': 304, 'clock_adjtime': 305, 'setns': 308, 'process_vm_readv': 310,
        'process_vm_writev': 311, 'kcmp': 312, 'finit_module': 313, 'memfd_create': 319, 'kexec_file_load': 320, 'bpf': 321,
        'userfaultfd': 323, **_SHARED,
    },
    'aarch64': {
        'lookup_dcookie': 18, 'umount2': 39, 'mount': 40, 'pivot_root': 41, 'chroot': 51, 'vhangup': 58, 'quotactl': 60, 'acct': 89,
        'unshare': 97, 'kexec_load': 104, 'init_module': 105, 'delete_module': 106, 'clock_settime': 112, 'syslog': 116, 'ptrace': 117,
        'reboot': 142, 'sethostname': 161, 'setdomainname': 162, 'settimeofday': 170, 'adjtimex': 171, 'msgget': 186, 'shmget': 194,
        'socket': 198, 'add_key': 217, 'request_key': 218, 'keyctl': 219, 'clone': 220, 'swapon': 224, 'swapoff': 225,
        'perf_event_open': 241, 'fanotify_init': 262, 'name_to_handle_at': 264, 'open_by_handle_at': 265, 'clock_adjtime': 266,
        'setns': 268, 'process_vm_readv': 270, 'process_vm_writev': 271, 'kcmp': 272, 'finit_module': 273, 'memfd_create': 279,
        'bpf': 280, 'userfaultfd': 282, 'kexec_file_load': 294, **_SHARED,
    },
}

# Handled by rules of their own instead of a plain refusal.
SPECIAL = ('clone', 'clone3', 'socket')

# AF_UNIX, AF_INET, AF_INET6, AF_NETLINK. AF_VSOCK (no namespace holds it back) and AF_ALG are among those refused.
SOCKET_FAMILIES = (1, 2, 10, 16)
NEW_NAMESPACES = 0x7E020000

_EPERM, _ENOSYS, _EAFNOSUPPORT = 1, 38, 97
_ALLOW, _ERRNO, _KILL_PROCESS = 0x7FFF0000, 0x00050000, 0x80000000
_LOAD, _JEQ, _JGE, _JSET, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
_NR, _ARCH, _ARG0 = 0, 4, 16


def build(machine):
    """The filter as packed sock_filter structures. Raises KeyError on a machine without a table."""
    numbers = NUMBERS[machine]
    rules = [
        (_LOAD, 0, 0, _ARCH),
        (_JEQ, 1, 0, AUDIT_ARCH[machine]),
        (_RETURN, 0, 0, _KILL_PROCESS),
        (_LOAD, 0, 0, _NR),
    ]
    if machine == 'x86_64':
        rules += [(_JGE, 0, 1, 0x40000000), (_RETURN, 0, 0, _KILL_PROCESS)]  # the x32 numbering
    for name in sorted(numbers):
        if name not in SPECIAL:
            rules += [(_JEQ, 0, 1, numbers[name]), (_RETURN, 0, 0, _ERRNO | _EPERM)]
    # clone3 hides its flags behind a pointer; with ENOSYS the C library falls back to clone.
    rules += [(_JEQ, 0, 1, numbers['clone3']), (_RETURN, 0, 0, _ERRNO | _ENOSYS)]
    rules += [
        (_JEQ, 0, 4, numbers['clone']),
        (_LOAD, 0, 0, _ARG0),
        (_JSET, 0, 1, NEW_NAMESPACES),
        (_RETURN, 0, 0, _ERRNO | _EPERM),
        (_RETURN, 0, 0, _ALLOW),
    ]
    count = len(SOCKET_FAMILIES)
    rules += [(_JEQ, 0, count + 2, numbers['socket']), (_LOAD, 0, 0, _ARG0)]
    rules += [(_JEQ, count - index, 0, family) for index, family in enumerate(SOCKET_FAMILIES)]
    rules += [(_RETURN, 0, 0, _ERRNO | _EAFNOSUPPORT), (_RETURN, 0, 0, _ALLOW)]
    return b''.join(struct.pack('HBBI', *rule) for rule in rules)


class _Program(ctypes.Structure):
    _fields_ = [('length', ctypes.c_ushort), ('filter', ctypes.c_void_p)]


class _CapabilityHeader(ctypes.Structure):
    _fields_ = [('version', ctypes.c_uint32), ('pid', ctypes.c_int)]


_PR_CAPBSET_READ, _PR_CAPBSET_DROP, _PR_SET_NO_NEW_PRIVS, _PR_SET_SECCOMP = 23, 24, 38, 22
_MOST_CAPABILITIES = 64


class Prison:
    """No capabilities, none to be had, and the filter, ready to be entered: nothing is built after the fork."""

    def __init__(self, libc, machine):
        packed = build(machine)
        self._buffer = ctypes.create_string_buffer(packed, len(packed))
        self._program = _Program(len(packed) // 8, ctypes.cast(self._buffer, ctypes.c_void_p))
        self._pointer = ctypes.byref(self._program)
        self._prctl, self._capset = libc.prctl, libc.capset
        self._header = _CapabilityHeader(0x20080522, 0)
        self._header_pointer = ctypes.byref(self._header)
        self._none = (ctypes.c_uint32 * 6)()
        self._capabilities = [number for number in range(_MOST_CAPABILITIES) if self._prctl(_PR_CAPBSET_READ, number, 0, 0, 0) >= 0]

    def enter(self):
        """Holds for this process and all it starts. Raises OSError."""
        for capability in self._capabilities:
            if self._prctl(_PR_CAPBSET_DROP, capability, 0, 0, 0) != 0:
                break  # it has no right to, having no capability
        self._check(self._capset(self._header_pointer, self._none), 'capset')
        self._check(self._prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 'no_new_privs')
        self._check(self._prctl(_PR_SET_SECCOMP, 2, self._pointer, 0, 0), 'seccomp filter')

    def _check(self, result, what):
        if result != 0:
            number = ctypes.get_errno()
            raise OSError(number, '%s: %s' % (what, os.strerror(number)))
