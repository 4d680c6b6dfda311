#include "families/kev/rows.h"
