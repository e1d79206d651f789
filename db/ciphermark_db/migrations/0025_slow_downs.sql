-- By how much others slowed each sample: figures are corrected by it.

alter table sample add column slow_down double precision not null default 1;

comment on column sample.slow_down is
    'How many times as long as on a quiet host it took, by the anchor beside it and the wait for the core: figures are made of value / slow_down. '
    '1 also of samples beside which nothing was watched, and of what is no time';
comment on column sample.is_disturbed is
    'Taken while others had the core for most of it, or, before samples were corrected, slowed it: it counts for no figure, unless there '
    'is nothing else. False also of samples beside which nothing was watched';
