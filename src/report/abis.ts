/** The ABIs that a report was made with, as decoders take them. */
import type { Abi } from "abitype";
import { indexAbis, type AbiIndex } from "../abi/abiIndex.js";
import type { ReportOptions } from "./schema.js";

/** The ABIs of a report's options, arranged. */
export const abisOf = ({ abis }: Pick<ReportOptions, "abis">): AbiIndex =>
  // why: kept as JSON in the report; the decoders leave out items that are not well-formed
  indexAbis(abis.map(({ address, abi }) => (address === null ? (abi as Abi) : { address, abi: abi as Abi })));
