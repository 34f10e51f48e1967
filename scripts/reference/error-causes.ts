import type { ErrorCode } from '#base/error-status.ts'

import type { CauseAndCure } from './other-errors.ts'
import { REQUEST_ERRORS } from './request-errors.ts'
import { STATE_ERRORS } from './state-errors.ts'

/** Every code that the service responds with. */
export const ERROR_CAUSES: Readonly<Record<ErrorCode, CauseAndCure>> = {
  ...REQUEST_ERRORS,
  ...STATE_ERRORS,
}
