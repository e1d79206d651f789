-- Samples that were taken while others slowed the host.

alter table sample add column is_disturbed boolean not null default false;

comment on column sample.is_disturbed is
    'Taken while others slowed the host, as the anchor beside it or the wait for the core told: it counts for no figure, '
    'unless there is nothing else. False also of samples beside which nothing was watched';
