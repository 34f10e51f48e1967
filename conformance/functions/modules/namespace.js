import * as data from './data.json' with { type: 'json' }
export default () => [Object.keys(data), data.default.a.length]
