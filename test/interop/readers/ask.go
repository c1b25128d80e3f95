// Ask by clients/go, as ask.py does.
package main

import (
	"bufio"
	"context"
	"encoding/hex"
	"fmt"
	"log"
	"os"
	"strconv"
	"strings"

	bloomreader "bloomext/reader"
	"github.com/redis/go-redis/v9"
)

func parse(kind, line string) (element bloomreader.Element, err error) {
	var i int64
	var bytes []byte
	switch kind {
	case "text", "t":
		element = bloomreader.Text(line)
	case "integer":
		i, err = strconv.ParseInt(line, 10, 32)
		element = bloomreader.Integer(int32(i))
	case "bigint", "n":
		i, err = strconv.ParseInt(line, 10, 64)
		element = bloomreader.Bigint(i)
	case "uuid", "u":
		bytes, err = hex.DecodeString(strings.ReplaceAll(line, "-", ""))
		element = bloomreader.UUID(*(*[16]byte)(bytes))
	case "bytea", "b":
		bytes, err = hex.DecodeString(line)
		element = bloomreader.Bytea(bytes)
	default:
		var values []bloomreader.Element
		for _, value := range strings.Split(line, "\t") {
			value, err := parse(value[:1], value[1:])
			if err != nil {
				return value, err
			}
			values = append(values, value)
		}
		element = bloomreader.Row(values...)
	}
	return
}

// A client that does something before the next question.
type client struct {
	redis.UniversalClient
	meanwhile func()
}

func (c *client) Pipeline() redis.Pipeliner {
	if meanwhile := c.meanwhile; meanwhile != nil {
		c.meanwhile = nil
		meanwhile()
	}
	return c.UniversalClient.Pipeline()
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

type reader interface {
	Contains(context.Context, []bloomreader.Element) ([]bool, error)
}

func ask(url, key, kind, file string, command []string) ([]bool, error) {
	ctx := context.Background()
	options, err := redis.ParseURL(url)
	check(err)
	client := &client{redis.NewClient(options), nil}
	defer client.Close()
	input, err := os.ReadFile(file)
	check(err)
	var elements []bloomreader.Element
	for _, line := range strings.Split(strings.TrimSuffix(string(input), "\n"), "\n") {
		element, err := parse(kind, line)
		check(err)
		elements = append(elements, element)
	}
	var reader reader = &bloomreader.Filter{Client: client, Key: key}
	if strings.HasPrefix(key, "window") {
		reader = &bloomreader.Window{Client: client, Key: key}
	}
	if len(command) > 0 {
		_, err = reader.Contains(ctx, elements)
		check(err)
		var words []any
		for _, word := range command {
			words = append(words, word)
		}
		client.meanwhile = func() {
			check(client.Do(ctx, words...).Err())
			reader.Contains(ctx, elements)
		}
	}
	return reader.Contains(ctx, elements)
}

func main() {
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		words := strings.Split(lines.Text(), "\t")
		answers, err := ask(words[0], words[1], words[2], words[3], words[4:])
		var said strings.Builder
		for _, answer := range answers {
			said.WriteString(map[bool]string{false: "0", true: "1"}[answer])
		}
		if err != nil {
			said.WriteString(strings.ReplaceAll(err.Error(), "\n", " "))
		}
		fmt.Println(said.String())
	}
}
