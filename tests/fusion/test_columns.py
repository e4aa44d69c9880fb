"""Which values of a column are kept for later sweeps."""

from astjit.fusion.columns import ColumnValues
from tests.codegen import records
from tests.codegen.columns import programs
from tests.fusion.column_cases import BY_NAME, COLUMN_CASES


def kernel_of(name):
    ((_, parts),) = programs([BY_NAME[name]], "f32").values()
    return parts.parts[0].kernel


def test_what_follows_from_reductions_is_kept_if_a_sweep_reads_it():
    kernel = kernel_of("standardise")
    values = ColumnValues(kernel)
    nodes = [n for n in kernel.body.nodes if n.results]
    assert {n.op.name for n in nodes if n.results[0] in values.kept} == {"div", "rsqrt"}
    (mean,) = (v for v in values.kept if v.name == "mean_")
    assert values.holds(mean)
    assert values.computes(mean)


def test_elements_and_loads_of_rows_are_no_values_of_a_column():
    kernel = kernel_of("masked")
    values = ColumnValues(kernel)
    loads = {n.values[0].name: n.results[0] for n in kernel.body.nodes if n.op.name == "load"}
    assert {name for name, value in loads.items() if values.holds(value)} == {"w"}
    assert not values.computes(loads["w"])
    assert not values.kept


def test_one_stage_keeps_nothing():
    assert not ColumnValues(records.square_sum0()).kept


def test_the_cases_are_column_kernels():
    made = programs(COLUMN_CASES, "bf16")
    assert {parts.parts[0].kernel.kind for _, parts in made.values()} == {"column"}
