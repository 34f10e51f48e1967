const LEARNED = new Map([
  ['openid', 'that it is you when you come back'],
  ['email', 'your email address'],
  ['profile', 'your name'],
])

/** What an application learns with a scope, in words for whom it is about. */
export const learnedWith = (scope: string): string => LEARNED.get(scope) ?? scope
