export default () => [
  typeof navigator.userAgent,
  typeof navigator.hardwareConcurrency,
  typeof reportError,
  typeof self,
  self === globalThis,
]
