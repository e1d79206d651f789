select *, ci_low as low, ci_high as high
from results
