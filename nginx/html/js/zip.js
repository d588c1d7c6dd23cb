/* zip: files packed into one, as a workbook is: PKWARE's APPNOTE, deflated. */
const encoder = new TextEncoder();

const CRC = Uint32Array.from({length: 256}, (_, n) => {
	for (let bit = 0; bit < 8; bit++)
		n = n & 1 ? 0xedb88320 ^ n >>> 1 : n >>> 1;
	return n;
});

function crcOf(before, bytes) {
	let crc = before;

	/* By number: five times as fast as by the bytes' iterator. */
	for (let i = 0; i < bytes.length; i++)
		crc = CRC[(crc ^ bytes[i]) & 255] ^ crc >>> 8;
	return crc;
}

/* Numbers of 2 or 4 bytes, the lowest byte first: [[bytes, number]…]. */
function head(fields) {
	const bytes = new Uint8Array(fields.reduce((sum, [n]) => sum + n, 0));
	const view = new DataView(bytes.buffer);
	let at = 0;

	for (const [length, number] of fields) {
		if (length === 2)
			view.setUint16(at, number, true);
		else
			view.setUint32(at, number, true);
		at += length;
	}
	return bytes;
}

const LOCAL = 0x04034b50, CENTRAL = 0x02014b50, END = 0x06054b50;
const VERSION = 20, DEFLATED = 8, FIRST_DAY = 0x21; /* 1980-01-01 */

const common = ({crc, packed, size, name}) => [[2, VERSION], [2, 0],
	[2, DEFLATED], [2, 0], [2, FIRST_DAY], [4, crc], [4, packed.size],
	[4, size], [2, name.length], [2, 0]];

/* What `write` gives to the function that it gets, deflated. */
async function packedBy(write) {
	const stream = new CompressionStream("deflate-raw");
	const writer = stream.writable.getWriter();
	const packed = new Response(stream.readable).blob();
	let crc = -1, size = 0;

	packed.catch(() => {});
	try {
		await write(async (text) => {
			const bytes = encoder.encode(text);

			crc = crcOf(crc, bytes);
			size += bytes.length;
			await writer.write(bytes);
		});
	} catch (error) {
		writer.abort(error).catch(() => {});
		throw error;
	}
	await writer.close();
	return {crc: ~crc >>> 0, size, packed: await packed};
}

/* A Blob of the files, [name, write]: see packedBy(). */
export async function zipOf(files) {
	const parts = [], directory = [];
	let at = 0;

	for (const [title, write] of files) {
		const name = encoder.encode(title);
		const file = {...await packedBy(write), name};
		const local = head([[4, LOCAL], ...common(file)]);

		parts.push(local, name, file.packed);
		directory.push(head([[4, CENTRAL], [2, VERSION], ...common(file),
		    [2, 0], [2, 0], [2, 0], [4, 0], [4, at]]), name);
		at += local.length + name.length + file.packed.size;
	}
	const length = directory.reduce((sum, one) => sum + one.length, 0);

	return new Blob([...parts, ...directory, head([[4, END], [2, 0], [2, 0],
	    [2, files.length], [2, files.length], [4, length], [4, at],
	    [2, 0]])]);
}
