"""Exceptions: one class per kind of error, as tenon.h has them."""


class Error(Exception):
    """What went wrong, in one line. The base of all others."""


class InvalidArgument(Error, ValueError):
    """Cannot be done as it was asked for."""


class NotFound(Error, LookupError):
    """No such file, sequence, entry or part of a model."""


class OutOfCachePages(Error):
    """May work when other sequences end; of a request: needs more than all."""


class OutOfMemory(Error, MemoryError):
    """No memory, or no more threads."""


class DamagedFile(Error):
    """Damaged, of another kind or another version."""


class UnsupportedCpu(Error):
    """The code or the library needs another CPU."""


class Cancelled(Error):
    """By cancel(), a timeout, or the end of its engine."""


class InternalError(Error):
    """A defect, or a failure of the operating system."""


class QueueFull(Error):
    """The engine has as many requests waiting as it may.

    Attributes:
        retry_after: seconds after which it is worth another try.
    """

    def __init__(self, message: str, retry_after: float = 0.0):
        super().__init__(message)
        self.retry_after = retry_after


class CompileError(Error):
    """The compiler has refused a model, or could not be started."""


# By tenon_status.
BY_STATUS = {
    1: InvalidArgument,
    2: NotFound,
    3: OutOfCachePages,
    4: OutOfMemory,
    5: DamagedFile,
    6: UnsupportedCpu,
    7: Cancelled,
    8: InternalError,
    9: QueueFull,
}
