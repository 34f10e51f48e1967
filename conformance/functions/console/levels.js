export default async () => {
  console.log('log')
  console.info('info')
  console.warn('warn')
  console.error('error')
  console.debug('debug')
  console.log()
}
