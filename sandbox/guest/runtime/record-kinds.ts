/** Kinds of `ToGuest` and `FromGuest` as records carry them: the character codes of their letters. */
export const CALL = 67
export const ANSWER = 65
export const ABORT = 88
export const STATE = 75
export const RESULT = 82
export const ANSWERED = 69
export const THROWN = 84
export const INVALID_RESULT = 73
export const INVALID_BODY = 66
export const MISMATCH = 80
export const OVERSIZED = 90
export const HOST_CALL = 72
export const LEFT = 89
export const LINE = 71
export const NEXT_TIMER = 78
export const LOADED = 79
export const UNUSABLE = 85
