export default () => [
  new MessageEvent('message', { data: 1 }).data,
  new ErrorEvent('error', { message: 'm', lineno: 3 }).lineno,
  new PromiseRejectionEvent('unhandledrejection', { promise: Promise.resolve(), reason: 4 }).reason,
]
