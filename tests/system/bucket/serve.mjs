// serve.mjs PORT FOLDER BUCKET: a store with this bucket, whose key is S3RVER with
// the secret S3RVER. It checks the signature of each request.
import S3rver from "@20minutes/s3rver";

const [, , port, directory, name] = process.argv;
await new S3rver({
  address: "127.0.0.1",
  port: Number(port),
  directory,
  silent: true,
  configureBuckets: [{ name }],
}).run();
console.log("ready");
