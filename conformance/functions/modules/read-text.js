export default async () => {
  const place = new URL('words.txt', import.meta.url)
  return [
    Deno.readTextFileSync(place),
    await Deno.readTextFile(place),
    [...(await Deno.readFile(place))].length,
  ]
}
