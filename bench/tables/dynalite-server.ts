/** dynalite in memory as a process of its own: prints `port N`. */
import dynalite from 'dynalite'

const server = dynalite({ createTableMs: 0 })
server.listen(0, '127.0.0.1', () => {
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('dynalite has no port')
  process.stdout.write(`port ${address.port}\n`)
})
