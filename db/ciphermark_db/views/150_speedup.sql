create view speedup as
select
    *,
    variant as variant_off,
    fastest_variant as variant_on
from ratios
where kind = 'hexl';

comment on view speedup is
    'HEXL speedup: time without HEXL / time with it, sample by sample, for two builds of one '
    'library at one security level (2018), with recommended tuning at the one asked for, in one run';
