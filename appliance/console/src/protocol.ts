// The messages of the streams. Made from appliance/live/ by `python -m tests.architecture.protocol`.

export type JsonValue = null | boolean | number | string | JsonValue[] | { [key: string]: JsonValue };

/** An answer to the request of this `id`; `is_last` of those that are answered in pieces. */
export type AnswerMessage = {
  run_id: string | null;
  seq: number | null;
  at: string;
  event: "answer";
  id: string;
  is_last: boolean;
  payload: JsonValue;
};

/** No more binary frames for now: what was said is to be understood. */
export type AudioEndMessage = {
  type: "audio_end";
};

/** What audio the binary frames that follow are: int16 mono of 16 kHz. */
export type AudioStart = {
  session?: string;
  mode?: "push_to_talk" | "open";
};

/** See `AudioStart`. */
export type AudioStartMessage = {
  type: "audio_start";
  payload?: AudioStart;
};

export type ClientMessage = UserMessage | RequestMessage | AudioStartMessage | AudioEndMessage | StopMessage;

/** See `Failure`; `id` is the request's, where it was one. */
export type ErrorMessage = {
  run_id: string | null;
  seq: number | null;
  at: string;
  event: "error";
  id: string | null;
  payload: Failure;
};

/** What could not be done with something this client sent. */
export type Failure = {
  sentence: string;
  code: number | null;
};

/** These events were erased, and what was held back since then: whoever shows their words takes them away. */
export type Forgotten = {
  event_ids: Array<string>;
  since: string | null;
};

/** See `Forgotten`. */
export type ForgottenMessage = {
  run_id: string | null;
  seq: number | null;
  at: string;
  event: "forgotten";
  payload: Forgotten;
};

/** What was understood; with the reason where it went no further. */
export type Heard = {
  text: string;
  session: string;
  event_id: string | null;
  held_back: string | null;
};

/** See `Heard`. */
export type HeardMessage = {
  run_id: string | null;
  seq: number | null;
  at: string;
  event: "heard";
  payload: Heard;
};

/** A reply was not heard whole. */
export type Interrupted = {
  event_id: string;
  heard: string;
  unsaid: string;
};

/** See `Interrupted`. */
export type InterruptedMessage = {
  run_id: string | null;
  seq: number | null;
  at: string;
  event: "interrupted";
  payload: Interrupted;
};

/** How loud it is, in dB below full scale; at most ten a second, and only while somebody looks. */
export type Levels = {
  microphone_db: number;
  loudspeaker_db: number | null;
};

/** See `Levels`. */
export type LevelsMessage = {
  run_id: string | null;
  seq: number | null;
  at: string;
  event: "levels";
  payload: Levels;
};

/** This reader was too slow, or asked for too much of the past: so many messages are missing before this one. */
export type Lost = {
  count: number;
};

/** See `Lost`. */
export type LostMessage = {
  run_id: string | null;
  seq: number | null;
  at: string;
  event: "lost";
  payload: Lost;
};

/** How many events of this owner are in which state, after that changed. */
export type MailboxChanged = {
  counts: { [key: string]: number };
};

/** See `MailboxChanged`. */
export type MailboxMessage = {
  run_id: string | null;
  seq: number | null;
  at: string;
  event: "mailbox";
  payload: MailboxChanged;
};

/** How far a request has come. */
export type Progress = {
  done: number;
  of: number;
};

/** See `Progress`; of the request of this `id`. */
export type ProgressMessage = {
  run_id: string | null;
  seq: number | null;
  at: string;
  event: "progress";
  id: string;
  payload: Progress;
};

/** A reply in writing is over: `text` is all that its chunks made, whatever was missed of them. */
export type ReplyWritten = {
  event_id: string;
  call_id: string;
  text: string;
};

/** See `ReplyWritten`. */
export type ReplyWrittenMessage = {
  run_id: string | null;
  seq: number | null;
  at: string;
  event: "reply_written";
  payload: ReplyWritten;
};

/** A request of the register, `do` and what belongs to it; the answer has its `id`. */
export type RequestMessage = {
  type: "request";
  id: string;
  payload: { [key: string]: JsonValue };
};

/** A run is over; exactly one for each that started. */
export type RunFinished = {
  event_id: string;
  status: "COMPLETED" | "FAILED" | "TIMED_OUT" | "SUSPENDED";
  error: string | null;
};

/** See `RunFinished`. */
export type RunFinishedMessage = {
  run_id: string | null;
  seq: number | null;
  at: string;
  event: "run_finished";
  payload: RunFinished;
};

/** A run as far as it has come. */
export type RunInHand = {
  event_id: string;
  session: string;
  source: string;
  content: string;
  parent_id: string | null;
  run_id: string;
  started_at: string;
  text: string;
  call_id: string | null;
  tool_calls: Array<ToolCall>;
};

/** An event was taken in hand. */
export type RunStarted = {
  event_id: string;
  session: string;
  source: string;
  content: string;
  parent_id: string | null;
};

/** See `RunStarted`. */
export type RunStartedMessage = {
  run_id: string | null;
  seq: number | null;
  at: string;
  event: "run_started";
  payload: RunStarted;
};

/** A sentence began to sound. */
export type Sentence = {
  event_id: string | null;
  call_id: string;
  text: string;
};

/** See `Sentence`. */
export type SentenceMessage = {
  run_id: string | null;
  seq: number | null;
  at: string;
  event: "sentence";
  payload: Sentence;
};

export type ServerMessage = SnapshotMessage | RunStartedMessage | TextChunkMessage | ReplyWrittenMessage | ToolCallStartedMessage | ToolCallFinishedMessage | RunFinishedMessage | StateMessage | WordsSoFarMessage | LevelsMessage | HeardMessage | SentenceMessage | InterruptedMessage | ForgottenMessage | MailboxMessage | TimerMessage | TurnMessage | ErrorMessage | AnswerMessage | ProgressMessage | LostMessage | SpeechStartedMessage | SpeechEndedMessage;

/** How it is now: the first message after connecting, and the last word on what came before. */
export type Snapshot = {
  version: string;
  state: "idle" | "listening" | "hearing" | "thinking" | "using_a_tool" | "speaking";
  tool: string | null;
  muted: boolean;
  run: RunInHand | null;
  mailbox: { [key: string]: number };
  timers: Array<TimerChanged>;
};

/** See `Snapshot`. */
export type SnapshotMessage = {
  run_id: string | null;
  seq: number | null;
  at: string;
  event: "snapshot";
  payload: Snapshot;
};

/** No more binary frames of this speech; where it was cut, what was not heard yet is to be dropped at once. */
export type SpeechEnded = {
  event_id: string | null;
  is_cut: boolean;
};

/** See `SpeechEnded`. */
export type SpeechEndedMessage = {
  run_id: string | null;
  seq: number | null;
  at: string;
  event: "speech_ended";
  payload: SpeechEnded;
};

/** Binary frames follow: int16 mono PCM of so many Hz, until `speech_ended`. */
export type SpeechStarted = {
  sample_rate: number;
  event_id: string | null;
};

/** See `SpeechStarted`. */
export type SpeechStartedMessage = {
  run_id: string | null;
  seq: number | null;
  at: string;
  event: "speech_started";
  payload: SpeechStarted;
};

/** What it is doing now. */
export type StateChanged = {
  state: "idle" | "listening" | "hearing" | "thinking" | "using_a_tool" | "speaking";
  tool: string | null;
  muted: boolean;
};

/** See `StateChanged`. */
export type StateMessage = {
  run_id: string | null;
  seq: number | null;
  at: string;
  event: "state";
  payload: StateChanged;
};

/** Stop the answer that is being given, as the word does in the room. */
export type StopMessage = {
  type: "stop";
};

/** Words of a reply as they are written, of one that is said whole sentences; those of a `call_id` are its text. */
export type TextChunk = {
  event_id: string;
  call_id: string;
  chunk: string;
};

/** See `TextChunk`. */
export type TextChunkMessage = {
  run_id: string | null;
  seq: number | null;
  at: string;
  event: "text_chunk";
  payload: TextChunk;
};

/** A timer was set, rings, or is over. */
export type TimerChanged = {
  id: string;
  label: string;
  due: string | null;
  state: "set" | "rings" | "ended" | "cancelled";
};

/** See `TimerChanged`. */
export type TimerMessage = {
  run_id: string | null;
  seq: number | null;
  at: string;
  event: "timer";
  payload: TimerChanged;
};

/** A call of a tool, under way until it has a status. */
export type ToolCall = {
  call_id: string;
  tool_name: string;
  args: JsonValue;
  status: "ok" | "error" | "refused" | "cancelled" | "asked" | null;
  result: string;
  seconds: number | null;
};

/** A call has its result. */
export type ToolCallFinished = {
  call_id: string;
  tool_name: string;
  status: "ok" | "error" | "refused" | "cancelled" | "asked";
  result: string;
  seconds: number;
};

/** See `ToolCallFinished`. */
export type ToolCallFinishedMessage = {
  run_id: string | null;
  seq: number | null;
  at: string;
  event: "tool_call_finished";
  payload: ToolCallFinished;
};

/** A tool is called. */
export type ToolCallStarted = {
  call_id: string;
  tool_name: string;
  args: JsonValue;
};

/** See `ToolCallStarted`. */
export type ToolCallStartedMessage = {
  run_id: string | null;
  seq: number | null;
  at: string;
  event: "tool_call_started";
  payload: ToolCallStarted;
};

/** The waterfall of a turn that ended. */
export type TurnMessage = {
  run_id: string | null;
  seq: number | null;
  at: string;
  event: "turn";
  payload: { [key: string]: JsonValue };
};

/** See `UserWords`; with an `id` it is answered by the id of its event, once that is durable. */
export type UserMessage = {
  type: "user_message";
  id?: string | null;
  payload: UserWords;
};

/** A line of text from a person; all but the words may be missing. */
export type UserWords = {
  content: string;
  client_timestamp_utc?: string | null;
  client_timezone_offset?: number | null;
  session?: string;
  attachments?: Array<string>;
  speak?: boolean;
};

/** What somebody is saying in the room, as far as it is understood; the next such message replaces it. It may become other words, or none: `heard` has what was said, and a state without `hearing` ends it. */
export type WordsSoFar = {
  text: string;
  language: string;
};

/** See `WordsSoFar`. */
export type WordsSoFarMessage = {
  run_id: string | null;
  seq: number | null;
  at: string;
  event: "words_so_far";
  payload: WordsSoFar;
};
