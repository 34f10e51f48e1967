import { bareAnswer } from './bare-answer.ts'

const server = Bun.serve({ hostname: '127.0.0.1', port: 0, fetch: bareAnswer })
console.log(`port ${server.port}`)
