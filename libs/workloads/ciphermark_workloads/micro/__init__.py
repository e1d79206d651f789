"""The family ``micro``: single functions of encrypted values, by the best circuit known here and by published ones."""
