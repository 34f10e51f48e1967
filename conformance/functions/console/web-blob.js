export default async () => {
  console.log(
    new Blob(['abc'], { type: 'text/plain' }),
    new File(['abc'], 'n.txt', { lastModified: 5 }),
  )
}
