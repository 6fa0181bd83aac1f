/** `word-count-of-files.ts` after a change of its code, which one sees in what it writes. Its state is the same. */
import { wordCountOfFiles } from "./word-count-of-files.ts";

export default wordCountOfFiles({ changed: true });
