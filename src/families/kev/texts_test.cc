#include "families/kev/texts.h"
