-- The order in which runs were recorded: which one is the latest does not depend on the clocks of hosts.
alter table run add column sequence bigint;

update run
set sequence = ordered.position
from (select id, row_number() over (order by started_at, id) as position from run) as ordered
where ordered.id = run.id;

alter table run alter column sequence set not null;
alter table run alter column sequence add generated always as identity;
select setval(pg_get_serial_sequence('run', 'sequence'), coalesce(max(sequence), 0) + 1, false) from run;
create unique index run_sequence on run (sequence);

comment on column run.sequence is 'The order in which runs were recorded';
