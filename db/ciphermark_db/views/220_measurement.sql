create view measurement as
select
    t.run_id,
    t.case_key,
    s.trial_id,
    t.process,
    phase_of(s.stage, s.party, s.step) as phase,
    s.stage,
    s.party,
    s.step,
    s.metric,
    m.unit,
    x.value,
    x.loops,
    x.ordinal,
    x.repetitions,
    x.is_warmup
from series as s
join trial as t on t.id = s.trial_id
join metric as m on m.name = s.metric
join sample as x on x.series_id = s.id;

comment on view measurement is 'Every value that was recorded, of trials of any status';
comment on column measurement.run_id is 'Run: one execution of a suite on a host';
comment on column measurement.case_key is 'The case: the same in all runs and on all hosts';
comment on column measurement.trial_id is 'One execution of the case in a worker';
comment on column measurement.process is 'Number of that worker';
comment on column measurement.phase is 'Where it was taken, as one text: the stage, stage.step or stage.party';
comment on column measurement.stage is
    'keys, encrypt, operation, decrypt, or the object that a size belongs to; of a workload one of its stages';
comment on column measurement.party is 'The party whose own sum or peak it is; otherwise NULL';
comment on column measurement.step is 'A part of the stage, of whichever party; otherwise NULL';
comment on column measurement.metric is 'What was measured: a name of the table metric';
comment on column measurement.unit is 'Unit of value';
comment on column measurement.value is 'Per execution';
comment on column measurement.loops is 'Executions that the value is the mean of';
comment on column measurement.ordinal is
    'Its number in the trial; values of two variants with one process and ordinal were taken in the same turn';
comment on column measurement.repetitions is 'Operations applied before it was taken (depth, noise); otherwise NULL';
comment on column measurement.is_warmup is 'Whether it counts for nothing';
