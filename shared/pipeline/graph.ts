import { UsageError } from "../errors.ts";
import { checkOptions } from "../options.ts";
import { checkName } from "./names.ts";
import type { Guarantee, Node, OnError, SinkDescription } from "./topology.ts";

/** Where a pipeline, or any of its streams, keeps its graph; not part of the public API. */
export const graphOf: unique symbol = Symbol("epochflow.graph");

/** A pipeline, or any of its streams: what a module exports, and `run` takes. */
export interface Definition {
  readonly [graphOf]: Graph;
}

/** What every operator takes as its last argument. */
export interface OperatorOptions {
  /** Unique in the pipeline. Without it: the kind and place among its kind, "map-2", however the others are named. */
  readonly id?: string;
}

export interface PipelineSettings {
  readonly name: string;
  readonly guarantee: Guarantee;
  readonly onError: OnError;
  readonly keyGroups: number;
}

/** All nodes and sinks of one pipeline in the order of definition. The handles share it, and only ever add to it. */
export class Graph {
  readonly settings: PipelineSettings;
  readonly nodes: Node[] = [];
  readonly sinks = new Map<string, SinkDescription>();
  readonly #ids = new Set<string>();
  readonly #places = new Map<string, number>();

  constructor(settings: PipelineSettings) {
    this.settings = settings;
  }

  /** Takes the id of a new node out of its options, or derives it. */
  name(kind: Node["kind"] | "words" | "split", options: OperatorOptions = {}): string {
    checkOptions(`.${kind === "sink" ? "to" : kind}()`, options, ["id"]);
    const derived = this.#derive(kind);
    return this.#claim(options.id === undefined ? derived : checkName(`id of a ${kind}`, options.id));
  }

  /** Takes an id, which nothing else in the pipeline may have. @throws UsageError `duplicate-id` */
  #claim(id: string): string {
    if (this.#ids.has(id)) {
      throw new UsageError("duplicate-id", `Two operators or sinks of the pipeline have the id "${id}"`, {
        wayOut: "Give one of them another: every operator takes { id } as its last argument.",
        place: { pipeline: this.settings.name, operator: id },
      });
    }
    this.#ids.add(id);
    return id;
  }

  /** Adds a sink that is no node of its own: for late records, for dead letters. */
  addSideSink(id: string, sink: SinkDescription): string {
    this.sinks.set(this.#claim(id), sink);
    return id;
  }

  #derive(kind: string): string {
    const place = (this.#places.get(kind) ?? 0) + 1;
    this.#places.set(kind, place);
    return `${kind.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}-${place}`;
  }
}
