export default async () => {
  const place = new URL('absent.txt', import.meta.url)
  return Deno.readTextFile(place).then(
    () => 'read',
    (error) => [error.name, error instanceof Deno.errors.NotFound, error.code],
  )
}
