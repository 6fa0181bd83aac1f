import type { EpochData, EpochDetail, PageData } from "../page-data.ts";
import { hideDetail, showDetail } from "./detail.ts";
import { byId } from "./dom.ts";
import { showEpochs } from "./epochs.ts";
import { type Connection, showHeader, showNotices } from "./header.ts";
import { showIncidents } from "./incidents.ts";
import { type Model, takeMessage, takeOlder } from "./model.ts";
import { showPartitions } from "./partitions.ts";
import { showTiles } from "./tiles.ts";
import { TimelineView } from "./timeline-view.ts";
import { showTopology } from "./topology.ts";

const rowsAtFirst = 40;

let model: Model | undefined;
let connection: Connection = "connecting";
let shown = rowsAtFirst;
let selected: number | undefined;
let isComplete = false;
let isDue = false;

const timeline = new TimelineView((epoch) => select(epoch));

/** Draws at most once a frame, however fast messages come; a page that nobody sees draws when it is seen again. */
function draw(): void {
  if (isDue) return;
  isDue = true;
  requestAnimationFrame(() => {
    isDue = false;
    if (!model) return;
    showHeader(model, connection);
    showNotices(model, connection);
    showTiles(model);
    timeline.update(model, selected);
    showTopology(model);
    showPartitions(model);
    showEpochs(model, { shown, selected, isComplete }, () => void older());
    showIncidents(model);
  });
}

function listen(): void {
  const source = new EventSource("/events");
  source.addEventListener("message", ({ data }) => {
    const before = model;
    model = takeMessage(model, JSON.parse(data) as PageData);
    connection = "live";
    const isChanged = model.data.epochs.some(({ epoch }) => epoch === selected);
    if (selected !== undefined && (isChanged || before?.data.uid !== model.data.uid)) void select(selected);
    draw();
  });
  source.addEventListener("error", () => {
    connection = "lost";
    draw();
  });
}

/** Shows so many more rows; those that this page does not have yet it asks for. */
async function older(): Promise<void> {
  shown += 100;
  const first = model?.epochs[0]?.epoch;
  if (model && first !== undefined && shown > model.epochs.length && first > 1) {
    const response = await fetch(`/epochs?before=${first}`);
    const epochs = response.ok ? ((await response.json()) as EpochData[]) : [];
    isComplete = epochs.length === 0;
    model = takeOlder(model, epochs);
  }
  draw();
}

async function select(epoch: number): Promise<void> {
  selected = epoch;
  draw();
  const response = await fetch(`/epoch?epoch=${epoch}`).catch(() => undefined);
  if (response?.ok && selected === epoch) showDetail((await response.json()) as EpochDetail, close);
}

function close(): void {
  const was = selected;
  selected = undefined;
  hideDetail();
  draw();
  // The keyboard goes on where it was.
  byId("epochs-view").querySelector<HTMLElement>(`button[data-epoch="${was}"]`)?.focus();
}

byId("epochs-view").addEventListener("click", (event) => {
  const row = (event.target as Element).closest("[data-epoch]");
  const epoch = Number(row?.getAttribute("data-epoch"));
  if (row === null) return;
  if (epoch === selected) close();
  else void select(epoch);
});
addEventListener("keydown", (event) => {
  if (event.key === "Escape" && selected !== undefined) close();
});
setInterval(() => {
  if (document.visibilityState === "visible") timeline.tick();
}, 100);
listen();
