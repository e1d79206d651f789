create view executed_operations as
select
    i.run_id,
    i.case_key,
    i.comparison_group,
    i.parameter_set_id,
    {{but_operation}},
    i.stage,
    i.program,
    n.operation,
    n.level,
    n.occurrences,
    i.nodes,
    i.program_depth,
    i.is_equal_program
from case_program as i
join program_count as n on n.program = i.program;

comment on view executed_operations is
    'Number of occurrences of each operation in the programs that cases executed: a row per run, case, stage, '
    'program, operation and level';
