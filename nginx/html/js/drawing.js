/*
 * drawing: how AG Grid shares the work of drawing among frames. Of itself it
 * takes up to 60 ms of a frame, makes the cells of a row that waits for its data
 * though it makes another row when they come, and makes all rows whose data came
 * in one task. It has no settings for these: they are laid over its services.
 */
const FRAME_MS = 16; /* of script; styles, layout and paint come on top */
const MOST_LEFT_OUT = 512; /* rows; those that scrolled by need no cells */

/* `version` is AG Grid's own, by which it knows what goes with it. */
export function sharedDrawing(version) {
	const leftOut = new Map(); /* a row's index to what makes its cells */
	let arriving = false;

	function shareFrames(frames, rowModel) {
		const {executeFrame, createTask, flushAllFrames} = frames;

		frames.executeFrame = (most_ms) =>
		    executeFrame.call(frames, Math.min(most_ms, FRAME_MS));
		frames.createTask = (task, index, list, ...rest) => {
			if (list !== "p1" ||
			    rowModel.getRow(index)?.data !== undefined) {
				createTask.call(frames, task, index, list,
				    ...rest);
				return;
			}
			if (leftOut.size >= MOST_LEFT_OUT)
				leftOut.delete(leftOut.keys().next().value);
			leftOut.delete(index);
			leftOut.set(index, task);
		};
		/* For the cursor, which needs a cell even in a row that waits. */
		frames.flushAllFrames = () => {
			for (const task of leftOut.values())
				task();
			leftOut.clear();
			flushAllFrames.call(frames);
		};
	}

	/* As after scrolling: the row at once, its cells in the frames to come. */
	function shareArrivals(rows) {
		const {createOrUpdateRowCtrl} = rows;

		rows.createOrUpdateRowCtrl = (index, recycled, animate,
		    scrolled) => createOrUpdateRowCtrl.call(rows, index,
			recycled, animate, scrolled || arriving);
	}

	class Drawing {
		beanName = "sharedDrawing";

		wireBeans({animationFrameSvc, rowModel, rowRenderer}) {
			shareFrames(animationFrameSvc, rowModel);
			shareArrivals(rowRenderer);
		}
	}

	return {
		module: {moduleName: "SharedDrawing", version, beans: [Drawing]},
		/* Runs `give`, which gives the grid rows that it waits for. */
		arrive(give) {
			arriving = true;
			try {
				give();
			} finally {
				arriving = false;
			}
		},
	};
}
