export default async () => {
  console.log(new ReadableStream(), new WritableStream(), new TransformStream())
}
