create view ranking_across_security_levels as select * from ratios where kind = 'across_security_levels';

comment on view ranking_across_security_levels is
    'As ranking, but with one fastest variant across all security levels: a ratio with is_equal_security = false '
    'compares different levels';
