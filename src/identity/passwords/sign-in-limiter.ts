import { AppError } from '#base/app-error.ts'
import { Limiter } from '#base/limiter.ts'

/** Bounds the costly work of sign-ins that runs at once, and how much may wait for it; 503 for everyone beyond. */
export const signInLimiter = (limits: { permits: number; maxQueued: number }): Limiter =>
  new Limiter({
    ...limits,
    refuse: () =>
      new AppError('ServiceUnavailable', 'Too many sign-ins at once: try again', {
        retryAfterSeconds: 2,
      }),
  })
