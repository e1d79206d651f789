create view executed_operations as
select
    p.run_id,
    p.case_key,
    p.comparison_key,
    p.variant,
    p.stage,
    p.program,
    p.scheme,
    n.operation,
    n.level,
    n.occurrences,
    p.nodes,
    p.program_depth,
    p.is_equal_program,
    p.plain_modulus,
    p.scale,
    p.division,
    p.key_switching,
    p.digits,
    p.scaling,
    p.parameter_set_id
from case_program as p
join program_count as n on n.program = p.program;

comment on view executed_operations is
    'How often each operation occurs in the programs that cases executed: a row per run, case, stage, program, operation and level';
