create view ranking as select * from ratios where kind = 'equal_security';

comment on view ranking is
    'Every variant against the fastest one of its security level (2018): time / time of the fastest, sample by sample, '
    'per run, comparison group, phase and level, composite operations apart; pseudo-libraries are left out';
