"""Asks the kernel about processes: what they hold, what is below one, how one ended. Changes nothing."""
import os
import platform

PAGE = os.sysconf('SC_PAGE_SIZE')


def kernel_version():
    digits = platform.release().split('-')[0].split('.')
    try:
        return int(digits[0]), int(digits[1])
    except (IndexError, ValueError):
        return 0, 0


def resident(pid):
    try:
        with open('/proc/%d/statm' % pid, 'rb') as file:
            return int(file.read().split()[1]) * PAGE
    except (OSError, IndexError, ValueError):
        return 0


def proportional(pid):
    """Resident bytes with shared pages divided among those who share them; None where the kernel does not tell, 0 of a process that is gone."""
    try:
        with open('/proc/%d/smaps_rollup' % pid, 'rb') as file:
            for line in file:
                if line.startswith(b'Pss:'):
                    return int(line.split()[1]) << 10
    except (FileNotFoundError, ProcessLookupError):
        return 0 if os.path.exists('/proc/self/smaps_rollup') else None
    except (OSError, ValueError):
        pass
    return None


def descendants(root):
    """Process ids below `root`, from one reading of /proc; empty where there is none."""
    children = {}
    try:
        names = os.listdir('/proc')
    except OSError:
        return []
    for name in names:
        if name.isdigit():
            try:
                with open('/proc/%s/stat' % name, 'rb') as file:
                    parent = int(file.read().rpartition(b')')[2].split()[1])
                children.setdefault(parent, []).append(int(name))
            except (OSError, IndexError, ValueError):
                pass
    found, waiting = [], [root]
    while waiting:
        below = children.get(waiting.pop(), [])
        found += below
        waiting += below
    return found


def address_space(pid='self'):
    """Bytes; None where there is no /proc."""
    try:
        with open('/proc/%s/statm' % pid, 'rb') as file:
            return int(file.read().split()[0]) * PAGE
    except OSError:
        return None


def exit_code(status):
    return os.WEXITSTATUS(status) if os.WIFEXITED(status) else 128 + os.WTERMSIG(status)
