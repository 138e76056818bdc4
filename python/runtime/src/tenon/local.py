"""What lives in one process."""


class Local:
    """Has memory or threads of this process, and no copies."""

    def __reduce__(self):
        raise TypeError(f"{type(self).__name__} cannot be pickled or copied:"
                        " expected a model that is loaded in each process")
