export default () => [typeof performance.now(), performance.now() >= 0, performance.timeOrigin > 0]
