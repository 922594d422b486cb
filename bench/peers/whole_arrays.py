"""Rows that NumPy, CuPy and PyTorch write alike: operations on whole arrays, into existing ones where a package can."""


def add_rows(xp, row, sort, is_device):
    """
    xp: the package
    row: rows.row, or another function that marks rows
    sort(x): sorts along the last axis
    is_device: whether results may be on a device, so that sums to numbers are waited for
    """

    @row("x+=3")
    def add_number(x):
        return lambda: xp.add(x, 3, out=x)

    @row("cos2+sin2,0..100", "cos2+sin2,arange")
    def cosine_and_sine(x):
        y, t = xp.empty_like(x), xp.empty_like(x)

        def statement():
            xp.cos(x, out=y)
            xp.square(y, out=y)
            xp.sin(x, out=t)
            xp.square(t, out=t)
            return xp.add(y, t, out=y)

        return statement

    @row("a+b")
    def add_arrays(a, b):
        return lambda: a + b

    @row("a+b,preallocated")
    def add_arrays_in_place(a, b):
        c = xp.empty_like(a)
        return lambda: xp.add(a, b, out=c)

    @row("selu")
    def selu(x):
        return lambda: 1.05 * xp.where(x > 0, x, 1.67 * xp.exp(x) - 1.67)

    @row("chain")
    def chain(a, b, c, d):
        y = xp.empty_like(a)

        def statement():
            xp.multiply(a, b, out=y)
            xp.add(y, c, out=y)
            xp.multiply(y, 0.5, out=y)
            xp.subtract(y, d, out=y)
            return xp.multiply(y, a, out=y)

        return statement

    reductions = {"sum": lambda x: x.sum, "max": lambda x: x.max, "any": lambda x: lambda: (x > 2).any()}
    for name, reduction in reductions.items():
        row(name)(to_number(reduction) if is_device else reduction)
        if is_device:
            row(f"{name},array")(reduction)

    row("sort,float", "sort,rows,float")(lambda x: lambda: sort(x))
    row("argsort,float")(lambda x: lambda: xp.argsort(x))
    row("cumsum,float")(lambda x: lambda: xp.cumsum(x, 0))

    @row("matmul,double", "matmul,float")
    def matmul(a, b):
        c = xp.empty_like(a)
        return lambda: xp.matmul(a, b, out=c)

    row("matmul,double,new")(lambda a, b: lambda: a @ b)
    row("x xT,float")(lambda x: lambda: x @ x.T)
    row("matvec,float")(lambda x, w: lambda: x @ w.T)

    @row("mandelbrot,arrays")
    def mandelbrot_arrays(c):
        from rows import ITERATIONS

        def statement():
            z, counts = xp.zeros_like(c), xp.zeros_like(c.real, dtype=xp.int32)
            for _ in range(ITERATIONS):
                small = z.real * z.real + z.imag * z.imag <= 4
                z = xp.where(small, z * z + c, z)
                counts += small
            return counts

        return statement

    @row("jacobi,statement")
    def jacobi(b, u, v):
        def statement():
            nonlocal u, v
            inside = v[1:-1, 1:-1]
            xp.add(u[:-2, 1:-1], u[2:, 1:-1], out=inside)
            xp.add(inside, u[1:-1, :-2], out=inside)
            xp.add(inside, u[1:-1, 2:], out=inside)
            xp.subtract(inside, b, out=inside)
            xp.multiply(inside, 0.25, out=inside)
            u, v = v, u
            return u

        return statement

    row("r2c,float", "r2c,double")(lambda x: lambda: xp.fft.rfftn(x))

    @row("c2r,float")
    def transform_back(x):
        y = xp.fft.rfftn(x)
        return lambda: xp.fft.irfftn(y, x.shape, (0, 1, 2), norm="forward")


def to_number(reduction):
    def prepare(x):
        to_array = reduction(x)
        return lambda: to_array().item()

    return prepare
