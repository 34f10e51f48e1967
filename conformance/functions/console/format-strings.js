export default async () => {
  console.log('%s %d %i %f %j %o %O%c!', 'it', '42.5', '42.5', '1.5', { a: 1 }, { b: 2 }, 'css')
  console.log('%s %s', 'one')
  console.log('%d %i %f', 10n, Symbol('q'), {})
}
