create view ranking as select * from ratios where kind = 'equal_security';

comment on view ranking is
    'Every variant against the fastest one at its security level (2018): a row per run, comparison group, phase, '
    'level and variant. The ratio is this variant''s time / time of the fastest, sample by sample. Composite '
    'operations are ranked apart; pseudo-libraries are not ranked';
