create view speedup as
select
    *,
    variant as variant_off,
    fastest_variant as variant_on
from ratios
where kind = 'hexl';

comment on view speedup is
    'HEXL speedup: time without HEXL / time with HEXL, sample by sample. A row compares two builds of one library in '
    'one run at one security level by the table of the suite, or with recommended tuning at the requested level';
