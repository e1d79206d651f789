create view program_count as
select
    p.digest as program,
    counted.operation,
    counted.level,
    counted.n as occurrences
from program as p
cross join lateral jsonb_to_recordset(p.counts) as counted (operation text, level integer, n bigint);

comment on view program_count is
    'Number of occurrences of each operation in a program: a row per program, operation and level';
